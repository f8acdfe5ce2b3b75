import type { ModelsValues } from '../models/manifest.ts';
import type { HostingValues } from './manifest.ts';

/**
 * The `hosting:` section with every default and the settings of `models`. Sizes are in bytes, times
 * in milliseconds.
 */
export interface HostingModel extends HostingValues {
  readonly models: ModelsValues;
}
