import { Typography } from '@mui/material';
import type { ReactNode } from 'react';

/** The placeholder of an empty list. */
export const NothingYet = ({ children }: { children: ReactNode }) => (
  <Typography sx={{ padding: 3, textAlign: 'center', color: 'text.secondary' }}>
    {children}
  </Typography>
);
