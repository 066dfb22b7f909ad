import { Typography } from '@mui/material';
import type { ReactNode } from 'react';

/** What stands where a list is empty. */
export const NothingYet = ({ children }: { children: ReactNode }) => (
  <Typography sx={{ padding: 3, textAlign: 'center', color: 'text.secondary' }}>
    {children}
  </Typography>
);
