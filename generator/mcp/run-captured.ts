import type { CommandCall, OptionValues, CommandSpec } from '../cli/command.ts';
import type { Terminal } from '../cli/terminal.ts';
import { CommandError } from '../failure.ts';
import { createPaint } from '../report.ts';
import type { AskProject } from '../run-project.ts';

/** A run of a command whose JSON is wanted instead of its output. */
export interface CapturedRun extends ToolProject {
  readonly command: string;
  readonly options?: OptionValues;
  readonly positionals?: readonly string[];
}

/** Runs a command in this process. @returns the document that `--json` prints, also of a failure */
export async function runCaptured(asked: CapturedRun): Promise<unknown> {
  const { root, commands, ask, command, options = {}, positionals = [] } = asked;
  const spec = commands.find(({ name }) => name === command);
  if (!spec)
    throw new CommandError('UNKNOWN_COMMAND', { message: `there is no command ${command}` });
  const captured: unknown[] = [];
  const call: CommandCall = {
    options: { ...options, hints: true },
    positionals,
    terminal: capturing((document) => void captured.push(document)),
    cwd: root,
    commands,
    ask,
  };
  try {
    await (await spec.load()).run(call);
  } catch (error) {
    if (error instanceof CommandError) return failureOf(error);
    throw error;
  }
  return captured.at(-1) ?? { ok: true };
}

/** A failure as `--json` prints it. */
export function failureOf({ details, code, message, fix }: CommandError): object {
  return { ok: false, error: { ...details, code, message, ...(fix !== undefined && { fix }) } };
}

const capturing = (document: Terminal['document']): Terminal => ({
  json: true,
  paint: createPaint(false),
  interactive: false,
  note: () => {},
  say: () => {},
  data: () => {},
  document,
});

/** The project that the tools are about. */
export interface ToolProject {
  readonly root: string;
  readonly commands: readonly CommandSpec[];
  readonly ask: AskProject;
}
