import type { Duplex } from 'node:stream';
import type Dockerode from 'dockerode';
import type { ExecOptions, ExecResult } from '../engine.ts';
import { createFrameReader } from './frames.ts';

/**
 * Runs a command in a running container and collects its output, up to the limit. Exit code 124
 * means that it took too long.
 */
export async function runCommand(
  container: Dockerode.Container,
  command: readonly string[],
  options: ExecOptions,
): Promise<ExecResult> {
  const exec = await container.exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true });
  const stream = await exec.start({ hijack: true, stdin: false });
  const output = await collect(stream, options);
  if (output.timedOut) return { ...output.result, exitCode: 124 };
  return { ...output.result, exitCode: (await exec.inspect()).ExitCode ?? 0 };
}

async function collect(stream: Duplex, { timeout, limit }: ExecOptions) {
  const read = createFrameReader();
  const kept = { stdout: createSink(limit), stderr: createSink(limit) };
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    stream.destroy();
  }, timeout);
  try {
    for await (const chunk of stream)
      for (const { stream: name, payload } of read(chunk as Buffer)) kept[name].add(payload);
  } catch (error) {
    if (!timedOut) throw error;
  } finally {
    clearTimeout(timer);
  }
  const truncated = timedOut || kept.stdout.cut() || kept.stderr.cut();
  return {
    timedOut,
    result: { stdout: kept.stdout.text(), stderr: kept.stderr.text(), truncated },
  };
}

function createSink(limit: number) {
  const parts: Buffer[] = [];
  let length = 0;
  let cut = false;
  return {
    add(chunk: Buffer) {
      const part = chunk.subarray(0, Math.max(0, limit - length));
      cut ||= part.length < chunk.length;
      length += part.length;
      if (part.length > 0) parts.push(part);
    },
    text: () => Buffer.concat(parts).toString('utf8'),
    cut: () => cut,
  };
}
