import type { CommandCall } from '../cli/command.ts';
import { completionScript, SHELLS } from '../cli/completion.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';

/** `generator completion bash|zsh|fish`: a script for the shell, on standard output. */
export async function run({ positionals, commands, terminal }: CommandCall): Promise<ExitCode> {
  const shell = SHELLS.find((name) => name === positionals[0]);
  if (shell === undefined)
    throw new CommandError(
      EXIT.usage,
      'UNKNOWN_SHELL',
      positionals[0] === undefined
        ? 'which shell?'
        : `there is no completion for ${positionals[0]}`,
      `generator completion ${SHELLS.join('|')}`,
    );
  const script = completionScript(shell, commands);
  if (terminal.json) terminal.document({ ok: true, shell, script });
  else terminal.data(script);
  return EXIT.done;
}
