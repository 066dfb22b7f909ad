import { Box, LinearProgress } from '@mui/material';
import type { Usage } from '@trueward/protocol/wire';
import { useRead } from '../api/use-call.ts';
import { Facts } from '../common/facts.tsx';
import { PanelCard } from '../common/page.tsx';
import { humanize } from '../common/status-chip.tsx';

const units: Record<string, [name: string, unit: string]> = {
  configuration_kb: ['Configuration', ' KiB'],
  media_mb: ['Media', ' MiB'],
};

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** What the account stores, compared with its limits. */
export function UsageCard() {
  const { data } = useRead<Usage>('/v1/usage');
  if (!data) return null;
  const facts = data.data.map(({ kind, used, limit }) => {
    const [name, unit] = units[kind] ?? [capitalize(humanize(kind)), ''];
    const text = `${used.toLocaleString('en')} of ${limit.toLocaleString('en')}${unit}`;
    const percent = limit === 0 ? 100 : Math.min(100, (used / limit) * 100);
    return [
      name,
      <Box key={kind} sx={{ display: 'flex', alignItems: 'center', gap: 2 }}>
        <LinearProgress
          variant="determinate"
          value={percent}
          color={percent >= 80 ? 'warning' : 'primary'}
          aria-label={`${name}: ${text}`}
          sx={{ width: 120 }}
        />
        {text}
      </Box>,
    ] as const;
  });
  return (
    <PanelCard title="Storage of the account">
      <Facts facts={Object.fromEntries(facts)} />
    </PanelCard>
  );
}
