import { join, resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { ask } from '../cli/ask.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { planRun } from '../pipeline.ts';
import { FOLDER } from '../files.ts';
import { disk } from '../write/disk.ts';
import { hashText } from '../write/lockfile.ts';
import { reportBrokenInputs } from './outcome.ts';

/**
 * `generator prune`: shows and then removes what is no longer used. Removed files are moved to a
 * separate folder.
 */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { terminal, options } = call;
  const root = resolve(call.cwd);
  if (options['documents'] === true)
    return (await import('./prune-documents.ts')).pruneDocuments(root, call);
  const plan = await planRun(root, {}, disk);
  if (!plan.project) return reportBrokenInputs(plan, call);
  const orphans = plan.findings
    .filter(({ code }) => code === 'RESOLVER_ORPHAN')
    .map(({ at }) => at.file);
  const stale = plan.changes.filter(({ kind }) => kind === 'stale').map(({ path }) => path);
  const paths = [...orphans, ...stale].sort();
  const remove = paths.length > 0 && (options['yes'] === true || (await confirmed(paths, call)));
  if (remove) for (const path of paths) await setAside(root, path);
  if (terminal.json) terminal.document({ ok: true, unused: paths, removed: remove ? paths : [] });
  else
    terminal.note(
      paths.length === 0
        ? 'Nothing is unused.'
        : remove
          ? `removed; the texts are kept under ${FOLDER}/rescued/`
          : 'nothing was removed; --yes removes them',
    );
  return EXIT.done;
}

async function confirmed(paths: readonly string[], { terminal }: CommandCall): Promise<boolean> {
  if (!terminal.json) terminal.data(paths.map((path) => `unused  ${path}\n`).join(''));
  return (
    !terminal.json &&
    terminal.interactive &&
    (await ask('Remove them? [y/N] ')).trim().toLowerCase().startsWith('y')
  );
}

async function setAside(root: string, path: string): Promise<void> {
  const text = await disk.read(join(root, path));
  if (text === null) return;
  await disk.write(
    join(root, FOLDER, 'rescued', `${path.replaceAll('/', '__')}.${hashText(text).slice(0, 8)}`),
    text,
  );
  await disk.remove(join(root, path));
}
