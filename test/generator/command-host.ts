/**
 * A process that runs one command of the generator after another, as `bin.js` runs one: to load the program anew for
 * each costs more than most commands. It has the working folder, the environment and the streams of each command.
 */
import { main } from '../../generator/cli.ts';

export interface Command {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

process.on('message', (command: Command) => void answer(command));
process.once('disconnect', () => process.exit());

async function answer({ args, cwd, env }: Command): Promise<void> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  const code = await main(args);
  const ended = { code, stdout: stdout.end(), stderr: stderr.end() };
  // The folder of the command may be removed from now on.
  process.chdir('/');
  process.send!(ended);
}

function capture(stream: NodeJS.WriteStream): { end(): string } {
  const { write } = stream;
  let text = '';
  stream.write = ((chunk: string | Uint8Array, ...more: unknown[]) => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = more.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  }) as typeof stream.write;
  return {
    end() {
      stream.write = write;
      return text;
    },
  };
}
