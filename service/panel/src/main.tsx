import { createRoot } from 'react-dom/client';
import { createConnection } from './api/connection.ts';
import { Panel } from './panel.tsx';
import { createSession } from './session/session.ts';

const root = document.querySelector('#panel');
if (root) {
  const connection = createConnection();
  createRoot(root).render(<Panel connection={connection} session={createSession(connection)} />);
}
