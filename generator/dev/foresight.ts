import { rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Foresight } from '@twofold/database';
import type { Foresee, ForeseeQuestion } from '../migrations/foreseen.ts';
import { FOLDER } from '../files.ts';
import type { DevServer } from './dev-server.ts';

/**
 * Asks the project's database about migrations that are not written yet. The database is not asked
 * again while it has applied all migrations on disk.
 */
export function createForesight(root: string, { ask }: Pick<DevServer, 'ask'>): Foresee {
  let settled: { readonly key: string; readonly answer: Foresight } | null = null;
  return async (question) => {
    const key = keyOf(question);
    if (settled?.key === key) return settled.answer;
    const answer = await askWith(root, question, ask);
    settled = answer && isSettled(answer) ? { key, answer } : null;
    return answer;
  };
}

function keyOf({ saved, drafts, without }: ForeseeQuestion): string {
  return JSON.stringify([saved, drafts, without]);
}

const isSettled = ({ state, refusal }: Foresight) => refusal === null && state.pending.length === 0;

async function askWith(
  root: string,
  { drafts, without, transition }: ForeseeQuestion,
  ask: DevServer['ask'],
): Promise<Foresight | null> {
  const folder = join(root, FOLDER, 'foreseen');
  try {
    await mkdir(folder, { recursive: true });
    if (transition) await writeFile(join(folder, basename(transition.path)), transition.text);
    for (const { path, text } of drafts) await writeFile(join(folder, basename(path)), text);
    return await ask<Foresight>('foresee', {
      root,
      ...(drafts.length > 0 && { drafts: folder }),
      ...(transition && { transitions: folder }),
      without: without.map((path) => basename(path).replace(/\.\w+$/, '')),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
