import { descriptionRoutes } from './description.ts';
import { explainRoutes } from './explain.ts';
import { migrationRoutes } from './migrations.ts';
import { operationRoutes } from './operations.ts';

/** Routes that the console uses; they are there while the manifest has `console`. */
export const consoleRoutes = [
  ...descriptionRoutes,
  ...operationRoutes,
  ...explainRoutes,
  ...migrationRoutes,
] as const;
