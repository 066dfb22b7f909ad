import { Box, Typography } from '@mui/material';
import type { ReactNode } from 'react';
import { Title } from 'react-admin';

/** A page that is no list and no form: its title is the one in the bar. */
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
