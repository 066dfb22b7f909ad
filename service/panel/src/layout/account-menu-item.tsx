import ManageAccountsIcon from '@mui/icons-material/ManageAccounts';
import { ListItemIcon, ListItemText, MenuItem } from '@mui/material';
import type { Ref } from 'react';
import { useUserMenu } from 'react-admin';
import { Link } from 'react-router';

/** Leads to the password and the one-time codes of whoever is signed in. */
export function AccountMenuItem({ ref }: { ref?: Ref<HTMLAnchorElement> }) {
  const menu = useUserMenu();
  return (
    <MenuItem component={Link} to="/account" ref={ref ?? null} onClick={menu?.onClose}>
      <ListItemIcon>
        <ManageAccountsIcon fontSize="small" />
      </ListItemIcon>
      <ListItemText>Your account</ListItemText>
    </MenuItem>
  );
}
