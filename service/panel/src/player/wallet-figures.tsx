import { Table, TableBody, TableCell, TableHead, TableRow, Typography } from '@mui/material';
import type { WalletReport } from '@trueward/protocol/wire';
import { useState } from 'react';
import { query } from '../api/resources.ts';
import { useRead } from '../api/use-call.ts';
import { Facts } from '../common/facts.tsx';
import { PanelCard, WideContent } from '../common/page.tsx';

const dayMs = 86_400_000;
const days = 7;

/** The last days in UTC, including today. */
function readPeriod(nowMs: number): { from: string; to: string } {
  const endMs = (Math.floor(nowMs / dayMs) + 1) * dayMs;
  const [from = '', to = ''] = [endMs - days * dayMs, endMs].map((ms) =>
    new Date(ms).toISOString(),
  );
  return { from, to };
}

const kinds = { reward: 'Earned', grant: 'Given', spend: 'Spent' } as const;

/** What players earned and spent in the last days, and what they have. */
export function WalletFigures() {
  const [period] = useState(() => readPeriod(Date.now()));
  const { data: report } = useRead<WalletReport>(query('/v1/wallet-reports', period));
  if (!report) return null;
  const { data, holdings, players } = report;
  const share =
    players.earned === 0
      ? ''
      : ` (${Math.round((players.earned_and_spent / players.earned) * 100)}%)`;
  return (
    <PanelCard title={`Earned and spent in the last ${days} days (UTC)`}>
      <Facts
        facts={Object.fromEntries([
          ['Players who earned', players.earned.toLocaleString('en')],
          [
            'Of them, players who spent',
            `${players.earned_and_spent.toLocaleString('en')}${share}`,
          ],
          ...holdings.map((holding) => [`Now: ${holding.type}`, describeHolding(holding)]),
        ])}
      />
      {data.length === 0 ? (
        <Typography sx={{ marginTop: 1 }}>
          Nothing yet. Players earn here with a placement whose reward the service credits.
        </Typography>
      ) : (
        <WideContent name="Wallets">
          <Table size="small">
            <TableHead>
              <TableRow>
                {['Day', 'What', 'Type', 'Amount', 'Times', 'Players', 'Reason'].map((name) => (
                  <TableCell key={name}>{name}</TableCell>
                ))}
              </TableRow>
            </TableHead>
            <TableBody>
              {data.toReversed().map((row) => (
                <TableRow key={JSON.stringify([row.period, row.kind, row.type, row.reason])}>
                  <TableCell>{row.period.slice(0, 10)}</TableCell>
                  <TableCell>{kinds[row.kind]}</TableCell>
                  <TableCell>{row.type}</TableCell>
                  <TableCell>{describeAmount(row)}</TableCell>
                  <TableCell>{row.changes.toLocaleString('en')}</TableCell>
                  <TableCell>{row.players.toLocaleString('en')}</TableCell>
                  <TableCell>{row.reason}</TableCell>
                </TableRow>
              ))}
            </TableBody>
          </Table>
        </WideContent>
      )}
    </PanelCard>
  );
}

function describeAmount({ amount, duration_s: durationS }: WalletReport['data'][number]): string {
  const time = `${durationS.toLocaleString('en')} s`;
  if (durationS === 0) return amount.toLocaleString('en');
  return amount === 0 ? time : `${amount.toLocaleString('en')}, ${time}`;
}

function describeHolding(holding: WalletReport['holdings'][number]): string {
  const { players, balance, active_players: active } = holding;
  const parts = [
    ...(players > 0 ? [`${balance.toLocaleString('en')} with ${countPlayers(players)}`] : []),
    ...(active > 0 ? [`active for ${countPlayers(active)}`] : []),
  ];
  return parts.join(', ');
}

const countPlayers = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'player' : 'players'}`;
