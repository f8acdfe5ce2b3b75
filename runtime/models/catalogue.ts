import type { Model } from './model.ts';

/** Details of a model that cannot be derived from the repository's name. */
interface Exceptions {
  /** Prefix of the repository and file name of the GGUF: `Qwen` in `Qwen_Qwen3-4B`. */
  readonly owner?: string;
  readonly name?: string;
  /** Quantization of the MLX weights, when it is not 4 bits. */
  readonly mlx?: string;
}

/** A model published for both engines: sizes in megabytes, the context in units of 1024 tokens. */
type Published = readonly [
  repository: string,
  /** Licence as the hub names it (an SPDX id if there is one). */
  licence: string,
  context: number,
  gguf: number,
  mlx: number,
  exceptions?: Exceptions,
];

/** The sizes are rounded. A download uses the sizes that the hub reports. */
const PUBLISHED: readonly Published[] = [
  ['SmolLM2-135M-Instruct', 'apache-2.0', 8, 105, 269, { mlx: 'bf16' }],
  ['SmolLM2-360M-Instruct', 'apache-2.0', 8, 271, 724, { mlx: 'bf16' }],
  ['SmolLM2-1.7B-Instruct', 'apache-2.0', 8, 1056, 3423, { mlx: 'bf16' }],
  ['SmolLM3-3B', 'apache-2.0', 64, 1915, 1730, { owner: 'HuggingFaceTB' }],
  ['Qwen2.5-0.5B-Instruct', 'apache-2.0', 32, 398, 278],
  ['Qwen2.5-1.5B-Instruct', 'apache-2.0', 32, 986, 869],
  ['Qwen2.5-3B-Instruct', 'qwen-research', 32, 1930, 1740],
  ['Qwen2.5-7B-Instruct', 'apache-2.0', 128, 4683, 4290],
  ['Qwen2.5-14B-Instruct', 'apache-2.0', 128, 8988, 8310],
  ['Qwen2.5-32B-Instruct', 'apache-2.0', 128, 19851, 18430],
  ['Qwen2.5-72B-Instruct', 'qwen', 128, 47416, 40900],
  ['Qwen2.5-Coder-1.5B-Instruct', 'apache-2.0', 32, 986, 869],
  ['Qwen2.5-Coder-7B-Instruct', 'apache-2.0', 128, 4683, 4290],
  ['Qwen2.5-Coder-14B-Instruct', 'apache-2.0', 128, 8988, 8310],
  ['Qwen2.5-Coder-32B-Instruct', 'apache-2.0', 128, 19851, 18430],
  ['Qwen3-0.6B', 'apache-2.0', 40, 484, 351, { owner: 'Qwen' }],
  ['Qwen3-1.7B', 'apache-2.0', 40, 1282, 984, { owner: 'Qwen' }],
  ['Qwen3-4B', 'apache-2.0', 40, 2497, 2280, { owner: 'Qwen' }],
  ['Qwen3-8B', 'apache-2.0', 40, 5028, 4610, { owner: 'Qwen' }],
  ['Qwen3-14B', 'apache-2.0', 40, 9002, 8310, { owner: 'Qwen' }],
  ['Qwen3-32B', 'apache-2.0', 40, 19762, 18430, { owner: 'Qwen' }],
  ['Qwen3-30B-A3B', 'apache-2.0', 40, 18632, 17180, { owner: 'Qwen' }],
  ['QwQ-32B', 'apache-2.0', 128, 19851, 18430, { owner: 'Qwen' }],
  ['Llama-3.2-1B-Instruct', 'llama3.2', 128, 808, 713],
  ['Llama-3.2-3B-Instruct', 'llama3.2', 128, 2019, 1825],
  ['Meta-Llama-3.1-8B-Instruct', 'llama3.1', 128, 4921, 4530, { name: 'Llama 3.1 8B Instruct' }],
  ['Llama-3.3-70B-Instruct', 'llama3.3', 128, 42520, 39700],
  ['gemma-2-2b-it', 'gemma', 8, 1709, 1490, { name: 'Gemma 2 2B it' }],
  ['gemma-2-9b-it', 'gemma', 8, 5761, 5220, { name: 'Gemma 2 9B it' }],
  ['gemma-2-27b-it', 'gemma', 8, 16645, 15330, { name: 'Gemma 2 27B it' }],
  ['gemma-3-1b-it', 'gemma', 32, 806, 770, { owner: 'google', name: 'Gemma 3 1B it' }],
  ['gemma-3-4b-it', 'gemma', 128, 2490, 3420, { owner: 'google', name: 'Gemma 3 4B it' }],
  ['gemma-3-12b-it', 'gemma', 128, 7301, 8080, { owner: 'google', name: 'Gemma 3 12B it' }],
  ['gemma-3-27b-it', 'gemma', 128, 16547, 16820, { owner: 'google', name: 'Gemma 3 27B it' }],
  ['Phi-3.5-mini-instruct', 'mit', 128, 2393, 2150, { name: 'Phi 3.5 mini Instruct' }],
  [
    'Phi-4-mini-instruct',
    'mit',
    128,
    2492,
    2180,
    { owner: 'microsoft', name: 'Phi 4 mini Instruct' },
  ],
  ['phi-4', 'mit', 16, 9053, 8250, { name: 'Phi 4' }],
  ['Mistral-7B-Instruct-v0.3', 'apache-2.0', 32, 4373, 4080],
  ['Mistral-Nemo-Instruct-2407', 'apache-2.0', 128, 7477, 6900],
  ['Mistral-Small-24B-Instruct-2501', 'apache-2.0', 32, 14334, 13260],
  ['Ministral-8B-Instruct-2410', 'mistral-research', 128, 4911, 4520],
  ['DeepSeek-R1-Distill-Qwen-1.5B', 'mit', 128, 1117, 1010],
  ['DeepSeek-R1-Distill-Qwen-7B', 'mit', 128, 4683, 4290],
  ['DeepSeek-R1-Distill-Llama-8B', 'mit', 128, 4921, 4530],
  ['DeepSeek-R1-Distill-Qwen-14B', 'mit', 128, 8988, 8310],
  ['DeepSeek-R1-Distill-Qwen-32B', 'mit', 128, 19851, 18430],
  ['Hermes-3-Llama-3.1-8B', 'llama3.1', 128, 4921, 4530],
];

const MB = 1_000_000;
const GPT_OSS = {
  name: 'gpt-oss 20B',
  quantization: 'MXFP4',
  licence: 'apache-2.0',
  context: 131_072,
};

/** Models that run on an ordinary machine, each in both formats. */
export const CATALOGUE: readonly Model[] = [
  ...PUBLISHED.flatMap(bothFormats),
  {
    ...GPT_OSS,
    id: 'ggml-org/gpt-oss-20b-GGUF',
    format: 'gguf',
    size: 12110 * MB,
    file: 'gpt-oss-20b-mxfp4.gguf',
  },
  { ...GPT_OSS, id: 'mlx-community/gpt-oss-20b-MXFP4-Q4', format: 'mlx', size: 11_200 * MB },
];

/** The GGUF model that the account bartowski publishes, and the MLX model of mlx-community. */
function bothFormats(row: Published): Model[] {
  const [repository, licence, context, gguf, mlx, { owner, name, mlx: bits = '4bit' } = {}] = row;
  const stem = owner === undefined ? repository : `${owner}_${repository}`;
  const shared = {
    name: name ?? repository.replaceAll('-', ' '),
    licence,
    context: context * 1024,
  };
  return [
    {
      ...shared,
      id: `bartowski/${stem}-GGUF`,
      format: 'gguf',
      size: gguf * MB,
      quantization: 'Q4_K_M',
      file: `${stem}-Q4_K_M.gguf`,
    },
    {
      ...shared,
      id: `mlx-community/${repository}${bits === '4bit' ? '-4bit' : ''}`,
      format: 'mlx',
      size: mlx * MB,
      quantization: bits,
    },
  ];
}
