import { Link } from '@mui/material';
import { Link as RouterLink } from 'react-router';

/** A player's reference, which leads to all of the player's decisions. */
export const PlayerLink = ({ player }: { player: string | undefined }) =>
  player === undefined ? (
    '–'
  ) : (
    <Link component={RouterLink} to={`/decisions?player=${encodeURIComponent(player)}`}>
      {player}
    </Link>
  );
