import { descriptionRoutes } from './description.ts';
import { explainRoutes } from './explain.ts';
import { operationRoutes } from './operations.ts';

/** Routes that the console uses; they are there while the manifest has `console`. */
export const consoleRoutes = [...descriptionRoutes, ...operationRoutes, ...explainRoutes] as const;
