import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { createProjectTools } from '../mcp/project-tools.ts';
import { serveLines } from '../mcp/serve-lines.ts';

/** `generator mcp`: the Model Context Protocol on stdio, until the client closes its end. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const tools = createProjectTools({ root: resolve(call.cwd), commands: call.commands });
  await serveLines(tools, process.stdin, process.stdout);
  return EXIT.done;
}
