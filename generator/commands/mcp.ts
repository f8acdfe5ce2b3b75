import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { createKeptProject } from '../kept-project.ts';
import { createProjectTools } from '../mcp/project-tools.ts';
import { serveLines } from '../mcp/serve-lines.ts';

/** `generator mcp`: the Model Context Protocol on stdio, until the client closes its end. */
export async function run(call: CommandCall): Promise<ExitCode> {
  const { ask, end } = createKeptProject();
  const tools = createProjectTools({ root: resolve(call.cwd), commands: call.commands, ask });
  await serveLines(tools, process.stdin, process.stdout);
  end();
  return EXIT.done;
}
