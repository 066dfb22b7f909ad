import { Box, Button, Link, TextField } from '@mui/material';
import { useState } from 'react';
import { Link as RouterLink, useNavigate, useSearchParams } from 'react-router';
import { Page, PanelCard } from '../common/page.tsx';
import { DecisionFilters, readFilter } from './decision-filters.tsx';
import { DecisionResults } from './decision-results.tsx';

/** Looks up a decision by id, and searches decisions by player, placement, state and time. */
export function DecisionList() {
  const [parameters, setParameters] = useSearchParams();
  const filter = readFilter(parameters);
  const key = JSON.stringify(filter);
  return (
    <Page
      title="Decisions"
      lead="Responses to ad requests and their outcomes. The list updates itself while your game runs."
    >
      <DecisionLookUp />
      <PanelCard title="Decisions">
        <DecisionFilters
          key={`filters ${key}`}
          filter={filter}
          onChange={(next) => setParameters(next as Record<string, string>)}
        />
        {filter.player !== undefined && (
          <Link component={RouterLink} to={`/players?ref=${encodeURIComponent(filter.player)}`}>
            Everything about this player
          </Link>
        )}
        <DecisionResults key={key} filter={filter} />
      </PanelCard>
    </Page>
  );
}

function DecisionLookUp() {
  const navigate = useNavigate();
  const [id, setId] = useState('');
  return (
    <Box
      component="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim() !== '') void navigate(`/decisions/${encodeURIComponent(id.trim())}`);
      }}
      sx={{ display: 'flex', gap: 1, maxWidth: 600, alignItems: 'center' }}
    >
      <TextField
        label="Decision ID"
        placeholder="dec_…"
        size="small"
        fullWidth
        value={id}
        onChange={({ target }) => setId(target.value)}
      />
      <Button type="submit" variant="contained">
        Open
      </Button>
    </Box>
  );
}
