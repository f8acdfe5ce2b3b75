import { lookUp } from '@twofold/schema';
import { join } from 'node:path';
import { ask } from '../cli/ask.ts';
import type { CommandCall } from '../cli/command.ts';
import { nameOf } from '../documents/broken-entries.ts';
import { printList, type TrustedList } from '../documents/trusted-list.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { planRun, type RunPlan } from '../pipeline.ts';
import { disk } from '../write/disk.ts';
import { applyChanges } from '../write/write.ts';
import { reportBrokenInputs } from './outcome.ts';

/** `generator prune --documents`: shows and then removes entries that no source has any more. */
export async function pruneDocuments(root: string, call: CommandCall): Promise<ExitCode> {
  const { terminal, options } = call;
  const plan = await planRun(root, {}, disk);
  if (!plan.project) return reportBrokenInputs(plan, call);
  const retired = retiredOf(plan);
  const remove =
    retired.length > 0 && (options['yes'] === true || (await confirmed(retired, call)));
  if (remove) await removeEntries(root, new Set(retired.map(({ hash }) => hash)));
  if (terminal.json) terminal.document({ ok: true, retired, removed: remove ? retired : [] });
  else
    terminal.note(
      retired.length === 0
        ? 'No trusted document is retired.'
        : remove
          ? `removed ${retired.length} of the trusted documents`
          : 'nothing was removed; --yes removes them',
    );
  return EXIT.done;
}

interface Retired {
  readonly hash: string;
  /** `query Posts`. */
  readonly name: string;
}

function retiredOf({ documents }: RunPlan): Retired[] {
  const { retired = [], list } = documents?.list ?? {};
  return retired.map((hash) => ({ hash, name: nameOf(lookUp(list!, hash)) }));
}

async function confirmed(retired: readonly Retired[], { terminal }: CommandCall): Promise<boolean> {
  if (!terminal.json)
    terminal.data(retired.map(({ hash, name }) => `retired  ${hash}  ${name}\n`).join(''));
  return (
    !terminal.json &&
    terminal.interactive &&
    (await ask('Remove them? [y/N] ')).trim().toLowerCase().startsWith('y')
  );
}

/** The list is read again under the lock of runs: what a run added meanwhile stays. */
async function removeEntries(root: string, hashes: ReadonlySet<string>): Promise<void> {
  await applyChanges(
    root,
    async () => {
      const { documents } = await planRun(root, {}, disk);
      const { file, list, retired } = documents!.list!;
      const before = await disk.read(join(root, file));
      const gone = new Set(retired.filter((hash) => hashes.has(hash)));
      const after = printList(withoutEntries(list, gone));
      return { changes: [{ path: file, owner: 'append', kind: 'update', before, after }] };
    },
    disk,
  );
}

const withoutEntries = (list: TrustedList, gone: ReadonlySet<string>): TrustedList =>
  new Map([...list].filter(([hash]) => !gone.has(hash)));
