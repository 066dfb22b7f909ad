import type { FastifyInstance } from 'fastify';
import { addSessionCheck, type SessionAccess } from '../authentication/session-access.ts';
import { addPanelFiles } from '../files/panel-files.ts';
import { addInspectionRoutes, addLiveRoute } from './inspection.ts';
import { addMediaUpload } from './media-upload.ts';
import type { PanelParts } from './panel-parts.ts';
import { addResourceLists } from './resource-lists.ts';
import { addAccountRoutes, addSessionRoutes, addSetupRoutes } from './sign-in.ts';
import { addUserRoutes } from './users.ts';

/** `/panel/`: the administration panel, and the endpoints that it uses in addition to `/v1`. */
export async function addPanel(
  app: FastifyInstance,
  sessions: SessionAccess,
  parts: PanelParts,
): Promise<void> {
  await addPanelFiles(app);
  // In its own scope, so that its hooks don't slow down other routes.
  await app.register(async (api) => {
    addSessionCheck(api, sessions);
    addSessionRoutes(api, parts);
    addSetupRoutes(api, parts);
    addUserRoutes(api, parts);
    addAccountRoutes(api, parts);
    addResourceLists(api, parts);
    addInspectionRoutes(api, parts);
    addLiveRoute(api, parts);
    await addMediaUpload(api, parts);
  });
}
