import {
  Alert,
  Box,
  Button,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  TextField,
} from '@mui/material';
import type { LinkCode, PlayerWallet, WalletEntry } from '@trueward/protocol/wire';
import { Fragment, useState } from 'react';
import { useCanAccess } from 'react-admin';
import { Link, useSearchParams } from 'react-router';
import { readMessage } from '../api/problem.ts';
import { query } from '../api/resources.ts';
import { useAction, useRead } from '../api/use-call.ts';
import { DangerButton, DialogButton, FormDialog, SecretDialog } from '../common/dialogs.tsx';
import { DecisionResults } from '../activity/decision-results.tsx';
import { Facts } from '../common/facts.tsx';
import { Page, PanelCard, WideContent } from '../common/page.tsx';
import { TimeText } from '../common/time.tsx';
import { GrantBudgets, useLeftToday } from './grant-budgets.tsx';
import { WalletFigures } from './wallet-figures.tsx';

/** Finds a player by reference. Shows what became of the player's ads, and shows and corrects the wallet. */
export function PlayerPage() {
  const [params, setParams] = useSearchParams();
  const playerRef = params.get('ref') ?? '';
  const [text, setText] = useState(playerRef);
  return (
    <Page title="Players" lead="What a player saw, earned and has: answers for support.">
      <Box
        component="form"
        sx={{ display: 'flex', gap: 1, alignItems: 'center' }}
        onSubmit={(event) => {
          event.preventDefault();
          setParams({ ref: text.trim() });
        }}
      >
        <TextField
          label="Player reference"
          helperText="ply_… for a guest, or your own id"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit" variant="contained" disabled={text.trim() === ''}>
          Find
        </Button>
      </Box>
      {playerRef === '' ? (
        <>
          <WalletFigures />
          <GrantBudgets />
        </>
      ) : (
        <Fragment key={playerRef}>
          <PanelCard title="Ad requests">
            <DecisionResults filter={{ player: playerRef }} explains />
          </PanelCard>
          <WalletCards playerRef={playerRef} />
        </Fragment>
      )}
    </Page>
  );
}

function WalletCards({ playerRef }: { playerRef: string }) {
  const path = `/v1/wallets/${encodeURIComponent(playerRef)}`;
  const { data: wallet, error } = useRead<PlayerWallet>(path);
  const { canAccess: canErase = false } = useCanAccess({ resource: 'erasures', action: 'create' });
  if (error)
    return (
      <PanelCard title="Wallet">
        <Alert severity="info">{readMessage(error)}</Alert>
      </PanelCard>
    );
  if (!wallet) return null;
  return (
    <>
      <PanelCard title="Wallet">
        <Facts
          facts={Object.fromEntries([
            ...Object.entries(wallet.balances),
            ...wallet.entitlements.map(({ type, active_until: end }) => [
              type,
              <>
                until <TimeText time={end} />
              </>,
            ]),
            ['Changes', wallet.version],
          ])}
        />
        <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, marginTop: 1 }}>
          <MakeGood path={path} />
          {playerRef.startsWith('ply_') && <NewCode path={path} />}
          {wallet.devices.length > 0 && <SignOut path={path} />}
          {canErase && <Erase playerRef={playerRef} />}
        </Box>
      </PanelCard>
      {wallet.devices.length > 0 && (
        <PanelCard title="Devices">
          {wallet.devices.map(({ linked_at: linkedAt, used_at: usedAt }) => (
            <div key={linkedAt}>
              Since <TimeText time={linkedAt} />, last used <TimeText time={usedAt} />
            </div>
          ))}
        </PanelCard>
      )}
      <Entries path={path} />
    </>
  );
}

/** Gives the player something, with a reason for the audit log. */
function MakeGood({ path }: { path: string }) {
  const { run, isRunning } = useAction<WalletEntry>({ successMessage: 'Given.' });
  return (
    <DialogButton
      label="Make good"
      disabled={isRunning}
      dialog={(close) => (
        <MakeGoodDialog
          onClose={close}
          onConfirm={(body) => {
            close();
            run(`${path}/grants`, { body });
          }}
        />
      )}
    />
  );
}

interface DialogProps {
  onClose(): void;
  onConfirm(body: object): void;
}

function MakeGoodDialog({ onClose, onConfirm }: DialogProps) {
  const [type, setType] = useState('');
  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  const whole = /^[1-9]\d*$/.test(amount) ? Number(amount) : undefined;
  const left = useLeftToday(type);
  return (
    <FormDialog
      title="Make good for a mistake"
      text="The player gets this at once. It can’t be taken back, and is recorded in the audit log."
      confirm="Give"
      isReady={type !== '' && whole !== undefined && reason.trim() !== ''}
      onClose={onClose}
      onConfirm={() => onConfirm({ type, amount: whole, reason: reason.trim() })}
    >
      <TextField
        label="Type"
        helperText="such as coins"
        value={type}
        onChange={({ target }) => setType(target.value)}
      />
      <TextField
        label="Amount"
        helperText={type !== '' && left !== undefined && describeLeft(type, left)}
        error={whole !== undefined && left !== undefined && whole > left}
        value={amount}
        onChange={({ target }) => setAmount(target.value)}
      />
      <TextField
        label="Reason"
        value={reason}
        slotProps={{ htmlInput: { maxLength: 64 } }}
        onChange={({ target }) => setReason(target.value)}
      />
    </FormDialog>
  );
}

const describeLeft = (type: string, left: number): string =>
  left === 0
    ? `No ${type} can be given today: an owner sets the budget, on Players without a reference`
    : `${left.toLocaleString('en')} ${type} can be given today`;

/** Makes a code for a player who has lost the device. */
function NewCode({ path }: { path: string }) {
  const [code, setCode] = useState<string>();
  const { run, isRunning } = useAction<LinkCode>({ onSuccess: (result) => setCode(result.code) });
  return (
    <>
      <Button variant="outlined" disabled={isRunning} onClick={() => run(`${path}/link-codes`)}>
        Code for a new device
      </Button>
      <SecretDialog
        text={code}
        title="Code for a new device"
        instructions="Whoever enters this code in the game within ten minutes gets the wallet. Make sure that it is the player."
        onClose={() => setCode(undefined)}
      />
    </>
  );
}

function SignOut({ path }: { path: string }) {
  const { run } = useAction({ successMessage: 'Signed out of all devices.' });
  return (
    <DangerButton
      label="Sign out of all devices"
      title="Sign the player out of all devices?"
      content="The wallet stays. The player needs a new code to reach it."
      confirm="Sign out"
      onConfirm={() => run(`${path}/devices`, { method: 'DELETE' })}
    />
  );
}

/** Deletes everything that is stored about the player. Only owners can. */
function Erase({ playerRef }: { playerRef: string }) {
  const { run } = useAction({ successMessage: 'The player is being erased.' });
  return (
    <DangerButton
      label="Erase the player"
      title="Erase everything about this player?"
      content="The wallet, the devices, and all decisions, events and webhook events are deleted. This can’t be undone."
      confirm="Erase"
      onConfirm={() => run(`/v1/users/${encodeURIComponent(playerRef)}`, { method: 'DELETE' })}
    />
  );
}

function Entries({ path }: { path: string }) {
  const { data: page } = useRead<{ data: WalletEntry[]; has_more: boolean }>(
    query(`${path}/entries`, { limit: '100' }),
  );
  if (!page) return null;
  return (
    <PanelCard title={page.has_more ? 'The last 100 changes' : 'Changes'}>
      <WideContent name="Changes">
        <Table size="small">
          <TableHead>
            <TableRow>
              {['When', 'What', 'Type', 'Change', 'Balance', 'Reason'].map((name) => (
                <TableCell key={name}>{name}</TableCell>
              ))}
            </TableRow>
          </TableHead>
          <TableBody>
            {page.data.map((entry) => (
              <TableRow key={entry.id}>
                <TableCell>
                  <TimeText time={entry.at} />
                </TableCell>
                <TableCell>
                  {entry.kind === 'reward' ? (
                    <Link to={`/decisions/${entry.id}`}>reward</Link>
                  ) : (
                    entry.kind
                  )}
                </TableCell>
                <TableCell>{entry.type}</TableCell>
                <TableCell>{describeChange(entry)}</TableCell>
                <TableCell>{entry.balance}</TableCell>
                <TableCell>{entry.reason}</TableCell>
              </TableRow>
            ))}
          </TableBody>
        </Table>
      </WideContent>
    </PanelCard>
  );
}

function describeChange({ delta, duration_s: durationS }: WalletEntry): string {
  const amount = `${delta > 0 ? '+' : ''}${delta}`;
  if (durationS === undefined) return amount;
  // A transfer may move both, and takes the time away.
  const time = durationS > 0 ? `for ${durationS} s` : `ended ${-durationS} s early`;
  return delta === 0 ? time : `${amount}, ${time}`;
}
