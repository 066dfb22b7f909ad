import { Box, Button, Link, Typography } from '@mui/material';
import { QRCodeSVG } from 'qrcode.react';
import { useState } from 'react';
import { Form, PasswordInput, required, TextInput } from 'react-admin';
import { useAction } from '../api/use-call.ts';
import { CopyText } from '../common/copy-text.tsx';

const path = '/panel/api/account/codes';

/** Turns one-time codes from an authenticator app on and off. */
export function OneTimeCodes({ isInitiallyOn }: { isInitiallyOn: boolean }) {
  const [isOn, setOn] = useState(isInitiallyOn);
  const start = useAction<{ secret: string; otpauth_url: string }>({ refetches: false });
  if (isOn) return <TurnOff onDone={() => setOn(false)} />;
  if (!start.result) {
    return (
      <>
        <Typography sx={{ marginBottom: 1 }}>
          Require a six-digit code from an authenticator app, in addition to your password, when you
          sign in.
        </Typography>
        <Button variant="contained" disabled={start.isRunning} onClick={() => start.run(path)}>
          Turn on
        </Button>
      </>
    );
  }
  const { secret, otpauth_url: link } = start.result;
  return (
    <>
      <Typography sx={{ marginBottom: 1 }}>
        Scan this with your authenticator app, <Link href={link}>open it on this device</Link>, or
        enter the secret below.
      </Typography>
      {/* Apps expect a dark code on a light background with a four-module quiet zone, even in dark mode. */}
      <Box sx={{ marginBottom: 1, lineHeight: 0 }}>
        <QRCodeSVG
          value={link}
          size={200}
          marginSize={4}
          title="QR code for your authenticator app"
          role="img"
        />
      </Box>
      <CopyText text={secret} label="Secret for one-time codes" />
      <ConfirmCode onDone={() => setOn(true)} />
    </>
  );
}

function ConfirmCode({ onDone }: { onDone(): void }) {
  const { run, isRunning } = useAction({
    successMessage: 'One-time codes are on.',
    onSuccess: onDone,
  });
  return (
    <Form onSubmit={(body: object) => run(`${path}/confirm`, { body })} noValidate>
      <TextInput
        source="code"
        label="Six-digit code"
        autoComplete="one-time-code"
        validate={required()}
      />
      <Button type="submit" variant="contained" disabled={isRunning}>
        Confirm
      </Button>
    </Form>
  );
}

function TurnOff({ onDone }: { onDone(): void }) {
  const { run, isRunning } = useAction({
    successMessage: 'One-time codes are off.',
    onSuccess: onDone,
  });
  return (
    <Form onSubmit={(body: object) => run(path, { method: 'DELETE', body })} noValidate>
      <Typography>One-time codes are on.</Typography>
      <PasswordInput
        source="password"
        label="Your password"
        autoComplete="current-password"
        validate={required()}
      />
      <Button type="submit" variant="outlined" color="error" disabled={isRunning}>
        Turn off
      </Button>
    </Form>
  );
}
