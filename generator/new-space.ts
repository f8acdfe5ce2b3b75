import { setFlagsFromString } from 'node:v8';

/**
 * Stops V8's space for new objects from growing: V8 lets it grow to 128 MB, which saves a run no
 * time. Call it once everything is loaded, when the space has 4 to 8 MB. A run over 3,000 types takes
 * 120 MB less with it.
 */
export function keepNewSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
