import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { answerMessage, CODES, errorText, idOf, type Toolbox } from '@twofold/schema/mcp';
import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { createKeptProject } from '../kept-project.ts';
import { createProjectTools } from './project-tools.ts';

/**
 * Answers messages of JSON-RPC, one a line, until the input ends. One is answered after another,
 * because two runs of the generator would wait for each other anyway.
 */
export async function serveLines(
  toolbox: Toolbox,
  input: Readable,
  output: Writable,
): Promise<void> {
  // The client has disconnected. The input then ends too, and so does the command.
  output.on('error', () => {});
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    const text = line.trim() === '' ? undefined : await answerLine(toolbox, line);
    if (text !== undefined) output.write(`${text}\n`);
  }
}

async function answerLine(toolbox: Toolbox, line: string): Promise<string | undefined> {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return errorText(null, {
      code: CODES.parse,
      message: 'the line is not valid JSON',
      data: undefined,
    });
  }
  try {
    return (await answerMessage(toolbox, message)).text;
  } catch (error) {
    return errorText(idOf(message), {
      code: CODES.internal,
      message: String(error),
      data: undefined,
    });
  }
}

/** `generator mcp`: the Model Context Protocol on stdio, until the client closes its end. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { ask, end } = createKeptProject();
  const tools = createProjectTools({ root: resolve(call.cwd), commands: call.commands, ask });
  await serveLines(tools, process.stdin, process.stdout);
  end();
  return EXIT.done;
}
