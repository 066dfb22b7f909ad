import ExpandMoreIcon from '@mui/icons-material/ExpandMore';
import { Accordion, AccordionDetails, AccordionSummary } from '@mui/material';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useFormState } from 'react-hook-form';

interface Props {
  title: string;
  children: ReactNode;
}

/** Folds fields that few people change. They open by themselves if one of them has an error. */
export function AdvancedFields({ title, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const { errors, submitCount } = useFormState();
  useEffect(() => {
    if (box.current?.querySelector('[aria-invalid=true]')) setOpen(true);
  }, [errors, submitCount]);
  return (
    <Accordion
      ref={box}
      expanded={isOpen}
      onChange={(_event, expanded) => setOpen(expanded)}
      disableGutters
      variant="outlined"
      slotProps={{ heading: { component: 'h2' } }}
      sx={{ width: '100%', maxWidth: 720, marginBlock: 1 }}
    >
      <AccordionSummary expandIcon={<ExpandMoreIcon />} sx={{ font: 'inherit', fontWeight: 600 }}>
        {title}
      </AccordionSummary>
      <AccordionDetails>{children}</AccordionDetails>
    </Accordion>
  );
}
