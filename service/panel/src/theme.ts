import type { Theme, ThemeOptions } from '@mui/material';
import { defaultDarkTheme, defaultLightTheme, type RaThemeOptions } from 'react-admin';

const typography = {
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontSize: 14,
  h1: { fontSize: '1.4rem', fontWeight: 600 },
  h2: { fontSize: '1.1rem', fontWeight: 600 },
  h3: { fontSize: '1rem', fontWeight: 600 },
};

const components = (
  base: ThemeOptions,
  borderColor: string,
): NonNullable<ThemeOptions['components']> => ({
  ...base.components,
  MuiPaper: { styleOverrides: { root: { backgroundImage: 'none' } } },
  MuiCard: { defaultProps: { variant: 'outlined' as const } },
  // React-admin writes “Loading” as a heading, which comes and goes between the page's own.
  MuiTypography: { defaultProps: { variantMapping: { h5: 'p' } } },
  // Break long words, so that they don't push other columns off the screen. Keep short words whole: a table that is
  // wider than a phone screen scrolls.
  MuiTableCell: {
    styleOverrides: {
      root: { borderColor },
      body: ({ theme }: { theme: Theme }) => ({
        overflowWrap: 'anywhere',
        minWidth: 124,
        [theme.breakpoints.down('sm')]: { minWidth: 88, paddingInline: 8 },
      }),
      // A phone has no room for selecting rows.
      paddingCheckbox: ({ theme }: { theme: Theme }) => ({
        minWidth: 0,
        [theme.breakpoints.down('sm')]: { display: 'none' },
      }),
    },
  },
  MuiCssBaseline: {
    styleOverrides: {
      // The browser scrolls to the first field with an error, which must not be under the bars at the top and the bottom.
      html: { scrollPaddingTop: 140, scrollPaddingBottom: 96 },
      // MUI shows the keyboard's focus by a faint ripple. Text fields have a border of their own.
      ':focus-visible:not(input, textarea), .Mui-focusVisible': {
        outline: '2px solid currentColor !important',
        outlineOffset: '-2px',
      },
      '@media (prefers-reduced-motion: reduce)': {
        '*, ::before, ::after': {
          animationDuration: '0s !important',
          transitionDuration: '0s !important',
        },
      },
    },
  },
  // Full-width inputs are hard to read on a wide screen.
  MuiFormControl: { styleOverrides: { root: { maxWidth: 720 } } },
  RaMenuItemLink: {
    styleOverrides: {
      root: ({ theme }: { theme: Theme }) => ({
        '&.RaMenuItemLink-active': {
          fontWeight: 600,
          backgroundColor: theme.palette.action.selected,
        },
      }),
    },
  },
  MuiCircularProgress: { defaultProps: { 'aria-label': 'Loading' } },
  MuiLinearProgress: { defaultProps: { 'aria-label': 'Loading' } },
  // On a phone, the toolbar contains only a floating button and would leave a gap.
  RaTopToolbar: {
    styleOverrides: {
      root: ({ theme }: { theme: Theme }) => ({
        [theme.breakpoints.down('sm')]: { minHeight: 0, padding: 0 },
      }),
    },
  },
  RaToolbar: {
    styleOverrides: {
      root: ({ theme }: { theme: Theme }) => ({
        backgroundColor: theme.palette.background.paper,
        // On a phone, react-admin’s bar would cover what is below the form too.
        '&.RaToolbar-mobileToolbar': { position: 'sticky' },
      }),
    },
  },
  // Sentence case is easier to read than MUI's all caps.
  MuiButton: { styleOverrides: { root: { textTransform: 'none' as const, fontWeight: 600 } } },
  MuiToggleButton: { styleOverrides: { root: { textTransform: 'none' as const } } },
});

/** All text has a contrast ratio of at least 4.5:1. Tests check this with axe. */
export const lightTheme: RaThemeOptions = {
  ...defaultLightTheme,
  palette: {
    mode: 'light',
    primary: { main: '#1f5fbf' },
    secondary: { main: '#1f5fbf' },
    error: { main: '#b3261e' },
    success: { main: '#1b6b3a' },
    warning: { main: '#8a4b00' },
    background: { default: '#f5f6f8', paper: '#ffffff' },
    text: { primary: '#1b2330', secondary: '#4c586a', disabled: '#5a6575' },
  },
  typography,
  shape: { borderRadius: 6 },
  components: components(defaultLightTheme, '#e2e6ec'),
};

export const darkTheme: RaThemeOptions = {
  ...defaultDarkTheme,
  palette: {
    mode: 'dark',
    primary: { main: '#8ab8ff' },
    secondary: { main: '#8ab8ff' },
    error: { main: '#ff9a91' },
    success: { main: '#7fd6a0' },
    warning: { main: '#ffc266' },
    background: { default: '#12161d', paper: '#1a2029' },
    text: { primary: '#e8ecf2', secondary: '#aab4c3', disabled: '#98a3b3' },
  },
  typography,
  shape: { borderRadius: 6 },
  components: components(defaultDarkTheme, '#2c3542'),
};

/** App bar background in each environment, dark enough for white text. */
export const environmentColors = { sandbox: '#155e75', live: '#a3200d' } as const;
