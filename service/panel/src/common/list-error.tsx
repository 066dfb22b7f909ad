import { Alert } from '@mui/material';
import type { ReactNode } from 'react';
import { useListContext } from 'react-admin';
import { messageOf } from '../api/problem.ts';

/** Why a list could not be loaded; earlier data stays visible below. */
export function ListError({ children }: { children: ReactNode }) {
  const { error, data } = useListContext();
  return (
    <>
      <Alert severity="error">The list could not be loaded. {messageOf(error)}</Alert>
      {data && data.length > 0 && children}
    </>
  );
}
