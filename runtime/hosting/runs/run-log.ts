import type { Core } from '../host/core.ts';
import type { LogLine, PlacedLine } from '../engine/engine.ts';
import { hideSecrets } from '../records/view.ts';

/** The most characters of a run's output that are kept: the last ones. */
const MAX_LOG = 256 * 1024;
/** The most lines that are read from the engine. */
const MAX_LINES = 20_000;

/** Reads the end of a container's output, with the app's secrets masked. */
export async function readRunLog(core: Core, appId: string, container: string): Promise<string> {
  const lines: string[] = [];
  let size = 0;
  for await (const batch of core.connection.engine().logs(container, { tail: MAX_LINES })) {
    for (const line of batch.map((each) => printLine(core, appId, each))) {
      lines.push(line);
      size += line.length;
    }
    size -= dropFirst(lines, size - MAX_LOG);
  }
  return lines.join('');
}

/** Follows the output of a run that goes on. Ends with the run's container. */
export async function* followRunLog(
  core: Core,
  appId: string,
  { container, signal }: { readonly container: string; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const batches: AsyncGenerator<readonly PlacedLine[]> = core.connection
    .engine()
    .logs(container, { follow: true, signal });
  for await (const batch of batches)
    yield batch.map((line) => printLine(core, appId, line)).join('');
}

/** @returns how many characters were dropped. */
function dropFirst(lines: string[], excess: number): number {
  let dropped = 0;
  let count = 0;
  while (dropped < excess && count < lines.length - 1) dropped += lines[count++]!.length;
  lines.splice(0, count);
  return dropped;
}

function printLine({ apps }: Core, appId: string, { text }: LogLine): string {
  const secrets = apps.byId(appId)?.secrets ?? {};
  return `${hideSecrets({ secrets }, text).slice(0, MAX_LOG)}\n`;
}
