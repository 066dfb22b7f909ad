import { Link } from '@mui/material';
import { Link as RouterLink } from 'react-router';

/** A player's reference, which leads to everything about the player. */
export const PlayerLink = ({ player }: { player: string | undefined }) =>
  player === undefined ? (
    '–'
  ) : (
    <Link component={RouterLink} to={`/players?ref=${encodeURIComponent(player)}`}>
      {player}
    </Link>
  );
