import { posix } from 'node:path';
import type { Entry, Problems } from './problems.ts';

/** A path relative to the compose file. @returns undefined, with a problem, for one that is not. */
export function sourcePathOf(path: string, text: string, problems: Problems): string | undefined {
  const clean = posix.normalize(text).replace(/\/+$/, '');
  if (text.startsWith('/') || text.startsWith('~') || clean === '..' || clean.startsWith('../')) {
    problems.add(path, 'is a path of the host, and only paths below the compose file are taken');
    return undefined;
  }
  return clean === '.' ? '' : clean;
}

export const needsSource = ({ path }: Entry, problems: Problems) =>
  problems.add(path, 'needs the files beside the compose file: send them as source');
