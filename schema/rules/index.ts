import type { Diagnostic } from '../diagnostic.ts';
import type { Built } from '../build/project.ts';

/** Judges one thing about the two files. */
export type Rule = (built: Built) => Iterable<Diagnostic>;

export const schemaRules: readonly Rule[] = [];
export const manifestRules: readonly Rule[] = [];
