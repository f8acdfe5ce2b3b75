import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  answerOf,
  assertGenerated,
  type AskProject,
  type Ended,
  MARK,
  messageOf,
  projectScript,
  REFUSED,
  startScript,
} from './run-project.ts';
import { listFolders } from './watch-folders.ts';

/** A process of the project that goes on living after an answer. */
interface Kept {
  /** Of the files that it has loaded. */
  readonly stamp: string;
  readonly alive: () => boolean;
  readonly ask: (message: object) => Promise<Ended>;
  readonly end: () => void;
}

/**
 * Asks one process again and again, because most of the time of a question is loading the runtime.
 * After a change of a file of the project another process answers.
 */
export function createKeptProject(): { readonly ask: AskProject; readonly end: () => void } {
  let kept: Kept | null = null;
  const ask: AskProject = async (root, question, { input } = {}) => {
    assertGenerated(root);
    const stamp = await stampOf(root);
    if (kept?.stamp !== stamp || !kept.alive()) {
      kept?.end();
      kept = start(root, stamp);
    }
    return answerOf(await kept.ask(messageOf(question, input)));
  };
  return { ask, end: () => kept?.end() };
}

function start(root: string, stamp: string): Kept {
  const child = startScript(root, projectScript());
  let errors = '';
  let settle: (ended: Ended) => void = () => {};
  child.stdin!.on('error', () => {});
  child.stderr!.on('data', (chunk: Buffer) => void (errors += chunk));
  createInterface(child.stdout!).on('line', (line) => {
    if (line.startsWith(MARK) || line.startsWith(REFUSED)) settle({ code: 0, out: line, errors });
  });
  const closed = new Promise<Ended>((resolve) =>
    child
      .once('error', (error) => resolve({ code: 1, out: '', errors: error.message }))
      .once('close', (code) => resolve({ code, out: '', errors })),
  );
  return {
    stamp,
    alive: () => child.exitCode === null && child.signalCode === null,
    ask: (message) => {
      const answered = new Promise<Ended>((resolve) => {
        settle = resolve;
      });
      child.stdin!.write(`${JSON.stringify(message)}\n`);
      return Promise.race([answered, closed]);
    },
    end: () => void child.stdin!.end(),
  };
}

/** A text that is another one as soon as a file was saved. */
async function stampOf(root: string): Promise<string> {
  const folders = await listFolders(root, '');
  const files = await Promise.all(folders.map((folder) => stampsIn(join(root, folder))));
  return files.flat().sort().join();
}

async function stampsIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names.map(async (name) => {
      const found = await stat(join(folder, name)).catch(() => null);
      if (found?.isDirectory()) return name;
      return `${folder}/${name} ${found?.mtimeMs} ${found?.ctimeMs} ${found?.size}`;
    }),
  );
}
