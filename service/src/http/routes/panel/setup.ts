import type { FastifyInstance } from 'fastify';
import type { Link } from '../../../user/links.ts';
import { ProblemError } from '../../problem.ts';
import type { PanelParts } from './panel-parts.ts';
import { email, newPassword, personName, strictBody, text } from './panel-schemas.ts';
import { checkStranger, startSession } from './session.ts';

interface Setup {
  token: string;
  email: string;
  name: string;
  password: string;
}

const describeLink = ({ user }: Link): object =>
  user ? { email: user.email, name: user.name, role: user.role } : { role: 'owner' };

/** `/panel/api/setup`: a one-time link makes the first owner, or sets the password of an invited user. */
export function addSetupRoutes(app: FastifyInstance, parts: PanelParts): void {
  const { users, database } = parts;
  const url = '/panel/api/setup';
  app.get<{ Querystring: { token: string } }>(
    url,
    {
      schema: { hide: true, querystring: strictBody({ token: text(100) }, ['token']) },
      preValidation: async (request, reply) => checkStranger(parts, request, reply),
    },
    async (request) => {
      const link = await users.links.find(request.query.token);
      if (!link) throw new ProblemError('not_found', 'The link has been used or has ended.');
      return describeLink(link);
    },
  );
  app.post<{ Body: Setup }>(
    url,
    {
      schema: {
        hide: true,
        body: strictBody({ token: text(100), email, name: personName, password: newPassword }, [
          'token',
          'email',
          'name',
          'password',
        ]),
      },
      preValidation: async (request, reply) => checkStranger(parts, request, reply),
    },
    async (request, reply) => {
      const { token, ...person } = request.body;
      const user = await users.links.use(token, person);
      const sessionText = await users.signIn.begin(database, user);
      return startSession(parts, reply, sessionText);
    },
  );
}
