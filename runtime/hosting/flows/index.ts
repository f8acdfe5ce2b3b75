import { flowsIn } from '@twofold/runtime/http';
import type { Leader } from '../leader.ts';
import * as apps from './apps.ts';
import * as backupTargets from './backup-targets.ts';
import * as backups from './backups.ts';
import * as compose from './compose.ts';
import * as deployApp from './deploy-app.ts';
import * as deploySource from './deploy-source.ts';
import * as deployments from './deployments.ts';
import * as gitKeys from './git-keys.ts';
import * as logs from './logs.ts';
import * as moves from './moves.ts';
import * as notifications from './notifications.ts';
import * as previews from './previews.ts';
import * as projects from './projects.ts';
import * as registries from './registries.ts';
import * as runs from './runs.ts';
import * as settings from './settings.ts';
import * as system from './system.ts';
import * as templates from './templates.ts';
import * as usage from './usage.ts';
import * as webhooks from './webhooks.ts';

/**
 * The endpoints of the hosting API, except `GET /api/health` (the server's own) and those of
 * language models.
 */
export const hostingFlows = flowsIn<Leader>(
  apps,
  settings,
  deployments,
  deployApp,
  deploySource,
  templates,
  webhooks,
  logs,
  usage,
  runs,
  projects,
  compose,
  system,
  notifications,
  registries,
  previews,
  gitKeys,
  backups,
  backupTargets,
  moves,
);
