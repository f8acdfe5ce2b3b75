import type { Codemod } from './codemod.ts';
import { migrationSteps } from './migration-steps/codemod.ts';

/** Every codemod, in the order of the versions. The first release needs none. */
export const codemods: readonly Codemod[] = [migrationSteps];
