import type { OptionSpec } from './command.ts';

// Options that several commands have.

/** Option of the commands that make or apply migrations. */
export const ALLOW_LOSS: OptionSpec = {
  name: 'allow-loss',
  value: 'COORDINATE',
  many: true,
  about: 'a column whose values may lose a part when its type changes: Post.rating',
};

export const CONFIRM: OptionSpec = {
  name: 'confirm',
  value: 'NAME',
  about: 'the name of a guarded database that may lose values',
};

export const HINTS = {
  name: 'hints',
  about: 'show every hint in full, those of the last run too',
} as const;

/** Option of the commands that write the files of front ends. */
export const NO_CLIENT: OptionSpec = {
  name: 'no-client',
  about: 'leave the files and documents of client: alone, on a machine without the front end',
};
