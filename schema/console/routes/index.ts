import { descriptionRoutes } from './description.ts';

/** Routes that the console uses; they are there while the manifest has `console`. */
export const consoleRoutes = [...descriptionRoutes] as const;
