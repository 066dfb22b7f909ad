import { Card, CardContent, Typography } from '@mui/material';
import { type ReactNode, useId } from 'react';

/** A part of a page, with its heading. */
export function PanelCard({
  title,
  action,
  children,
}: {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  const heading = useId();
  return (
    <Card component="section" aria-labelledby={heading} sx={{ minWidth: 0, width: '100%' }}>
      <CardContent>
        <Typography
          id={heading}
          variant="h2"
          sx={{ marginBottom: 1, display: 'flex', justifyContent: 'space-between', gap: 1 }}
        >
          {title}
        </Typography>
        {action}
        {children}
      </CardContent>
    </Card>
  );
}
