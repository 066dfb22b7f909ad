import type { FastifyInstance } from 'fastify';
import { addSessionCheck, type SessionAccess } from '../authentication/session-access.ts';
import { addPanelFiles } from '../files.ts';
import { addInspectionRoutes } from './inspection.ts';
import { addMediaUpload } from './media-upload.ts';
import type { PanelDeps } from './panel-deps.ts';
import { addResourceLists } from './resource-lists.ts';
import { addAccountRoutes, addSessionRoutes, addSetupRoutes } from './sign-in.ts';
import { addSingleSignOn } from './single-sign-on.ts';
import { addSourceRoutes } from './sources.ts';
import { addTopRoute } from './top.ts';
import { addUserRoutes } from './users.ts';

/** Adds `/panel/`, which serves the panel, and the endpoints that the panel uses in addition to `/v1`. */
export async function addPanel(
  app: FastifyInstance,
  sessions: SessionAccess,
  deps: PanelDeps,
): Promise<void> {
  await addPanelFiles(app);
  // Registered in a separate scope, so that the hooks don't slow down other routes.
  await app.register(async (api) => {
    addSessionCheck(api, sessions);
    addSessionRoutes(api, deps);
    addSingleSignOn(api, deps);
    addSetupRoutes(api, deps);
    addUserRoutes(api, deps);
    addAccountRoutes(api, deps);
    addResourceLists(api, deps);
    addInspectionRoutes(api, deps);
    addSourceRoutes(api, deps);
    addTopRoute(api, deps);
    await addMediaUpload(api, deps);
  });
}
