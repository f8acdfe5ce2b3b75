import { descriptionRoutes } from './description.ts';
import { explainRoutes } from './explain.ts';
import { migrationRoutes } from './migrations.ts';
import { operationRoutes } from './operations.ts';

/** The routes of the console. They exist if the manifest has `console`. */
export const consoleRoutes = [
  ...descriptionRoutes,
  ...operationRoutes,
  ...explainRoutes,
  ...migrationRoutes,
] as const;
