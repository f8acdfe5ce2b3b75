import { generate, type PlaygroundInput, type PlaygroundOutput } from './generate.ts';

/** One request of the page; answers may be waited for by their number. */
export interface WorkerRequest {
  readonly id: number;
  readonly input: PlaygroundInput;
}

/** `failure` is the text of an error that should not be. */
export interface WorkerAnswer {
  readonly id: number;
  readonly output?: PlaygroundOutput;
  readonly failure?: string;
}

addEventListener('message', ({ data }: MessageEvent<WorkerRequest>) => {
  generate(data.input)
    .then((output) => ({ output }))
    .catch((error: unknown) => ({ failure: String(error) }))
    .then((answer) => postMessage({ id: data.id, ...answer } satisfies WorkerAnswer));
});
