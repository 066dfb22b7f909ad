import { Box, Card, CardContent, Typography } from '@mui/material';
import { type ReactNode, useId } from 'react';
import { Title } from 'react-admin';

/** A page that is neither a list nor a form. Shows its title in the app bar. */
export function Page({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: string;
  children: ReactNode;
}) {
  return (
    <Box sx={{ paddingBlock: 2, display: 'grid', gap: 2, gridTemplateColumns: 'minmax(0, 1fr)' }}>
      <Title title={title} />
      {lead !== undefined && <Typography color="textSecondary">{lead}</Typography>}
      {children}
    </Box>
  );
}

/** A page section with a heading. */
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

/** What may be wider than the screen, such as a table. It can be scrolled with the keyboard, too. */
export const WideContent = ({ name, children }: { name: string; children: ReactNode }) => (
  <Box sx={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label={name}>
    {children}
  </Box>
);
