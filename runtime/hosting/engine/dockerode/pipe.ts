import type { Duplex } from 'node:stream';
import type Dockerode from 'dockerode';
import { pump } from '../../archives/chunks.ts';
import type { PipedCommand, PipeOptions } from '../volume-files.ts';
import { createFrameReader } from './frames.ts';

/** Characters of the error output that are kept: the last ones, which say why it failed. */
const KEPT_ERRORS = 4000;

/** Starts a command in a running container, with its input and output as streams. */
export async function pipeCommand(
  container: Dockerode.Container,
  command: readonly string[],
  { input, signal }: PipeOptions,
): Promise<PipedCommand> {
  const exec = await container.exec({
    Cmd: [...command],
    AttachStdout: true,
    AttachStderr: true,
    AttachStdin: input !== undefined,
  });
  const stream = await exec.start({ hijack: true, stdin: input !== undefined });
  const abort = () => void stream.destroy(new Error('The command was cancelled'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const fed = input ? feed(input, stream) : Promise.resolve();
  fed.catch(() => {});
  let stderr = '';
  return {
    output: readOutput(stream, (text) => (stderr = (stderr + text).slice(-KEPT_ERRORS))),
    async result() {
      signal.removeEventListener('abort', abort);
      const { ExitCode: exitCode } = await exec.inspect();
      // A command may end without reading all of its input. Its exit code says whether that is an
      // error, but a failure of the source is always one.
      await fed;
      return { exitCode: exitCode ?? 1, stderr: stderr.trim() };
    },
  };
}

async function feed(input: AsyncIterable<Buffer>, stream: Duplex): Promise<void> {
  try {
    await pump(input, stream);
    stream.end();
  } catch (error) {
    stream.destroy(error as Error);
    throw error;
  }
}

async function* readOutput(
  stream: Duplex,
  onError: (text: string) => void,
): AsyncGenerator<Buffer> {
  const read = createFrameReader();
  for await (const chunk of stream)
    for (const { stream: name, payload } of read(chunk as Buffer))
      if (name === 'stdout') yield payload;
      else onError(payload.toString('utf8'));
}
