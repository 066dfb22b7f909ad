import { type Theme, useMediaQuery } from '@mui/material';

/** Then the bar has no room for the title, and it stands above the page. */
export const useIsPhone = (): boolean =>
  useMediaQuery<Theme>((theme) => theme.breakpoints.down('sm'), { noSsr: true });

export const titleStyle = { fontSize: '1.25rem', fontWeight: 500 };
