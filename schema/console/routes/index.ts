import { descriptionRoutes } from './description.ts';
import { explainRoutes } from './explain.ts';

/** Routes that the console uses; they are there while the manifest has `console`. */
export const consoleRoutes = [...descriptionRoutes, ...explainRoutes] as const;
