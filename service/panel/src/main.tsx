import { createRoot } from 'react-dom/client';
import { Panel } from './panel.tsx';
import { createSession } from './session/session.ts';

const root = document.querySelector('#panel');
if (root) createRoot(root).render(<Panel session={createSession()} />);
