import { appRoutes } from './apps.ts';
import { backupRoutes } from './backups.ts';
import { deploymentRoutes } from './deployments.ts';
import { notificationRoutes } from './notifications.ts';
import { moveRoutes } from './moves.ts';
import { gitRoutes } from './git.ts';
import { previewRoutes } from './previews.ts';
import { registryRoutes } from './registries.ts';
import { runRoutes } from './runs.ts';
import { projectRoutes } from './projects.ts';
import { systemRoutes } from './system.ts';
import { watchingRoutes } from './watching.ts';

/**
 * The endpoints of the hosting API, except `GET /api/health` (the server's own) and those of
 * language models.
 */
export const hostingRoutes = [
  ...appRoutes,
  ...deploymentRoutes,
  ...watchingRoutes,
  ...runRoutes,
  ...projectRoutes,
  ...systemRoutes,
  ...notificationRoutes,
  ...registryRoutes,
  ...previewRoutes,
  ...gitRoutes,
  ...backupRoutes,
  ...moveRoutes,
] as const;
