import type { ModelsValues } from '../models/manifest.ts';
import type { HostingValues } from './manifest.ts';

/**
 * `hosting:` of the manifest, with every default filled in; sizes in bytes, times in milliseconds.
 */
export interface HostingModel extends HostingValues {
  readonly models: ModelsValues;
}
