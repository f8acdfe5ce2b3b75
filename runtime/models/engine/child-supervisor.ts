import { spawn } from 'node:child_process';

/**
 * A separate program that runs a foreign command and ends it when the server ends, also when the
 * server is killed. The command gets a process group of its own, because it may have children.
 */
process.once(
  'message',
  ({ file, args }: { readonly file: string; readonly args: readonly string[] }) => {
    const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
    const end = (signal: NodeJS.Signals) => {
      if (child.pid === undefined) process.exit(1);
      try {
        process.kill(-child.pid, signal);
      } catch {
        // The process has ended already.
      }
    };
    child.once('error', (error) => {
      process.stderr.write(`${error.message}\n`);
      process.exit(1);
    });
    child.once('exit', (code, signal) => {
      end('SIGKILL');
      if (signal !== null) process.stderr.write(`ended by ${signal}\n`);
      process.exit(code ?? 1);
    });
    process.once('SIGTERM', () => {
      end('SIGTERM');
      setTimeout(() => end('SIGKILL'), 3000);
    });
    process.once('disconnect', () => {
      end('SIGKILL');
      process.exit(1);
    });
    process.send?.({ pid: child.pid });
  },
);
