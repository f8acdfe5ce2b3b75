import type { CommandCall } from '../../cli/command.ts';
import { EXIT, type ExitCode } from '../../failure.ts';
import { checkHost } from '../../host/doctor/checks.ts';
import { lookAtHost } from '../../host/doctor/look.ts';

/** `generator host doctor`: what is wrong with the host of this machine, and the line that mends it. */
export async function run({ terminal }: CommandCall): Promise<ExitCode> {
  const checks = checkHost(await lookAtHost());
  const ok = checks.every((check) => check.ok);
  if (terminal.json) terminal.document({ ok, checks });
  else
    for (const { id, ok: isOk, message, fix } of checks) {
      const word = isOk ? terminal.paint.green('ok   ') : terminal.paint.red('wrong');
      terminal.data(`${word}  ${id.padEnd(15)}  ${message}\n`);
      if (fix !== null) terminal.data(`       fix              ${fix}\n`);
    }
  return ok ? EXIT.done : EXIT.differs;
}
