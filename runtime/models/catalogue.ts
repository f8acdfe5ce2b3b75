import type { Model } from './model.ts';

/** One model as it is published for both kinds of engine: repository, file or quantization, and megabytes. */
interface Published {
  readonly name: string;
  /** As the hub names it (SPDX where there is one). */
  readonly licence: string;
  readonly context: number;
  readonly gguf: readonly [repository: string, file: string, megabytes: number];
  readonly mlx: readonly [repository: string, quantization: string, megabytes: number];
}

const K = 1024;
const MB = 1_000_000;

/** Sizes are rounded: what is downloaded, and checked against the disk, is what the hub says then. */
const PUBLISHED: readonly Published[] = [
  {
    name: 'SmolLM2 135M Instruct',
    licence: 'apache-2.0',
    context: 8 * K,
    gguf: ['bartowski/SmolLM2-135M-Instruct-GGUF', 'SmolLM2-135M-Instruct-Q4_K_M.gguf', 105],
    mlx: ['mlx-community/SmolLM2-135M-Instruct', 'bf16', 269],
  },
  {
    name: 'SmolLM2 360M Instruct',
    licence: 'apache-2.0',
    context: 8 * K,
    gguf: ['bartowski/SmolLM2-360M-Instruct-GGUF', 'SmolLM2-360M-Instruct-Q4_K_M.gguf', 271],
    mlx: ['mlx-community/SmolLM2-360M-Instruct', 'bf16', 724],
  },
  {
    name: 'SmolLM2 1.7B Instruct',
    licence: 'apache-2.0',
    context: 8 * K,
    gguf: ['bartowski/SmolLM2-1.7B-Instruct-GGUF', 'SmolLM2-1.7B-Instruct-Q4_K_M.gguf', 1056],
    mlx: ['mlx-community/SmolLM2-1.7B-Instruct', 'bf16', 3423],
  },
  {
    name: 'SmolLM3 3B',
    licence: 'apache-2.0',
    context: 64 * K,
    gguf: ['bartowski/HuggingFaceTB_SmolLM3-3B-GGUF', 'HuggingFaceTB_SmolLM3-3B-Q4_K_M.gguf', 1915],
    mlx: ['mlx-community/SmolLM3-3B-4bit', '4bit', 1730],
  },
  {
    name: 'Qwen2.5 0.5B Instruct',
    licence: 'apache-2.0',
    context: 32 * K,
    gguf: ['bartowski/Qwen2.5-0.5B-Instruct-GGUF', 'Qwen2.5-0.5B-Instruct-Q4_K_M.gguf', 398],
    mlx: ['mlx-community/Qwen2.5-0.5B-Instruct-4bit', '4bit', 278],
  },
  {
    name: 'Qwen2.5 1.5B Instruct',
    licence: 'apache-2.0',
    context: 32 * K,
    gguf: ['bartowski/Qwen2.5-1.5B-Instruct-GGUF', 'Qwen2.5-1.5B-Instruct-Q4_K_M.gguf', 986],
    mlx: ['mlx-community/Qwen2.5-1.5B-Instruct-4bit', '4bit', 869],
  },
  {
    name: 'Qwen2.5 3B Instruct',
    licence: 'qwen-research',
    context: 32 * K,
    gguf: ['bartowski/Qwen2.5-3B-Instruct-GGUF', 'Qwen2.5-3B-Instruct-Q4_K_M.gguf', 1930],
    mlx: ['mlx-community/Qwen2.5-3B-Instruct-4bit', '4bit', 1740],
  },
  {
    name: 'Qwen2.5 7B Instruct',
    licence: 'apache-2.0',
    context: 128 * K,
    gguf: ['bartowski/Qwen2.5-7B-Instruct-GGUF', 'Qwen2.5-7B-Instruct-Q4_K_M.gguf', 4683],
    mlx: ['mlx-community/Qwen2.5-7B-Instruct-4bit', '4bit', 4290],
  },
  {
    name: 'Qwen2.5 14B Instruct',
    licence: 'apache-2.0',
    context: 128 * K,
    gguf: ['bartowski/Qwen2.5-14B-Instruct-GGUF', 'Qwen2.5-14B-Instruct-Q4_K_M.gguf', 8988],
    mlx: ['mlx-community/Qwen2.5-14B-Instruct-4bit', '4bit', 8310],
  },
  {
    name: 'Qwen2.5 32B Instruct',
    licence: 'apache-2.0',
    context: 128 * K,
    gguf: ['bartowski/Qwen2.5-32B-Instruct-GGUF', 'Qwen2.5-32B-Instruct-Q4_K_M.gguf', 19851],
    mlx: ['mlx-community/Qwen2.5-32B-Instruct-4bit', '4bit', 18430],
  },
  {
    name: 'Qwen2.5 72B Instruct',
    licence: 'qwen',
    context: 128 * K,
    gguf: ['bartowski/Qwen2.5-72B-Instruct-GGUF', 'Qwen2.5-72B-Instruct-Q4_K_M.gguf', 47416],
    mlx: ['mlx-community/Qwen2.5-72B-Instruct-4bit', '4bit', 40900],
  },
  {
    name: 'Qwen2.5 Coder 1.5B Instruct',
    licence: 'apache-2.0',
    context: 32 * K,
    gguf: [
      'bartowski/Qwen2.5-Coder-1.5B-Instruct-GGUF',
      'Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf',
      986,
    ],
    mlx: ['mlx-community/Qwen2.5-Coder-1.5B-Instruct-4bit', '4bit', 869],
  },
  {
    name: 'Qwen2.5 Coder 7B Instruct',
    licence: 'apache-2.0',
    context: 128 * K,
    gguf: [
      'bartowski/Qwen2.5-Coder-7B-Instruct-GGUF',
      'Qwen2.5-Coder-7B-Instruct-Q4_K_M.gguf',
      4683,
    ],
    mlx: ['mlx-community/Qwen2.5-Coder-7B-Instruct-4bit', '4bit', 4290],
  },
  {
    name: 'Qwen2.5 Coder 14B Instruct',
    licence: 'apache-2.0',
    context: 128 * K,
    gguf: [
      'bartowski/Qwen2.5-Coder-14B-Instruct-GGUF',
      'Qwen2.5-Coder-14B-Instruct-Q4_K_M.gguf',
      8988,
    ],
    mlx: ['mlx-community/Qwen2.5-Coder-14B-Instruct-4bit', '4bit', 8310],
  },
  {
    name: 'Qwen2.5 Coder 32B Instruct',
    licence: 'apache-2.0',
    context: 128 * K,
    gguf: [
      'bartowski/Qwen2.5-Coder-32B-Instruct-GGUF',
      'Qwen2.5-Coder-32B-Instruct-Q4_K_M.gguf',
      19851,
    ],
    mlx: ['mlx-community/Qwen2.5-Coder-32B-Instruct-4bit', '4bit', 18430],
  },
  {
    name: 'Qwen3 0.6B',
    licence: 'apache-2.0',
    context: 40 * K,
    gguf: ['bartowski/Qwen_Qwen3-0.6B-GGUF', 'Qwen_Qwen3-0.6B-Q4_K_M.gguf', 484],
    mlx: ['mlx-community/Qwen3-0.6B-4bit', '4bit', 351],
  },
  {
    name: 'Qwen3 1.7B',
    licence: 'apache-2.0',
    context: 40 * K,
    gguf: ['bartowski/Qwen_Qwen3-1.7B-GGUF', 'Qwen_Qwen3-1.7B-Q4_K_M.gguf', 1282],
    mlx: ['mlx-community/Qwen3-1.7B-4bit', '4bit', 984],
  },
  {
    name: 'Qwen3 4B',
    licence: 'apache-2.0',
    context: 40 * K,
    gguf: ['bartowski/Qwen_Qwen3-4B-GGUF', 'Qwen_Qwen3-4B-Q4_K_M.gguf', 2497],
    mlx: ['mlx-community/Qwen3-4B-4bit', '4bit', 2280],
  },
  {
    name: 'Qwen3 8B',
    licence: 'apache-2.0',
    context: 40 * K,
    gguf: ['bartowski/Qwen_Qwen3-8B-GGUF', 'Qwen_Qwen3-8B-Q4_K_M.gguf', 5028],
    mlx: ['mlx-community/Qwen3-8B-4bit', '4bit', 4610],
  },
  {
    name: 'Qwen3 14B',
    licence: 'apache-2.0',
    context: 40 * K,
    gguf: ['bartowski/Qwen_Qwen3-14B-GGUF', 'Qwen_Qwen3-14B-Q4_K_M.gguf', 9002],
    mlx: ['mlx-community/Qwen3-14B-4bit', '4bit', 8310],
  },
  {
    name: 'Qwen3 32B',
    licence: 'apache-2.0',
    context: 40 * K,
    gguf: ['bartowski/Qwen_Qwen3-32B-GGUF', 'Qwen_Qwen3-32B-Q4_K_M.gguf', 19762],
    mlx: ['mlx-community/Qwen3-32B-4bit', '4bit', 18430],
  },
  {
    name: 'Qwen3 30B A3B',
    licence: 'apache-2.0',
    context: 40 * K,
    gguf: ['bartowski/Qwen_Qwen3-30B-A3B-GGUF', 'Qwen_Qwen3-30B-A3B-Q4_K_M.gguf', 18632],
    mlx: ['mlx-community/Qwen3-30B-A3B-4bit', '4bit', 17180],
  },
  {
    name: 'QwQ 32B',
    licence: 'apache-2.0',
    context: 128 * K,
    gguf: ['bartowski/Qwen_QwQ-32B-GGUF', 'Qwen_QwQ-32B-Q4_K_M.gguf', 19851],
    mlx: ['mlx-community/QwQ-32B-4bit', '4bit', 18430],
  },
  {
    name: 'Llama 3.2 1B Instruct',
    licence: 'llama3.2',
    context: 128 * K,
    gguf: ['bartowski/Llama-3.2-1B-Instruct-GGUF', 'Llama-3.2-1B-Instruct-Q4_K_M.gguf', 808],
    mlx: ['mlx-community/Llama-3.2-1B-Instruct-4bit', '4bit', 713],
  },
  {
    name: 'Llama 3.2 3B Instruct',
    licence: 'llama3.2',
    context: 128 * K,
    gguf: ['bartowski/Llama-3.2-3B-Instruct-GGUF', 'Llama-3.2-3B-Instruct-Q4_K_M.gguf', 2019],
    mlx: ['mlx-community/Llama-3.2-3B-Instruct-4bit', '4bit', 1825],
  },
  {
    name: 'Llama 3.1 8B Instruct',
    licence: 'llama3.1',
    context: 128 * K,
    gguf: [
      'bartowski/Meta-Llama-3.1-8B-Instruct-GGUF',
      'Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf',
      4921,
    ],
    mlx: ['mlx-community/Meta-Llama-3.1-8B-Instruct-4bit', '4bit', 4530],
  },
  {
    name: 'Llama 3.3 70B Instruct',
    licence: 'llama3.3',
    context: 128 * K,
    gguf: ['bartowski/Llama-3.3-70B-Instruct-GGUF', 'Llama-3.3-70B-Instruct-Q4_K_M.gguf', 42520],
    mlx: ['mlx-community/Llama-3.3-70B-Instruct-4bit', '4bit', 39700],
  },
  {
    name: 'Gemma 2 2B it',
    licence: 'gemma',
    context: 8 * K,
    gguf: ['bartowski/gemma-2-2b-it-GGUF', 'gemma-2-2b-it-Q4_K_M.gguf', 1709],
    mlx: ['mlx-community/gemma-2-2b-it-4bit', '4bit', 1490],
  },
  {
    name: 'Gemma 2 9B it',
    licence: 'gemma',
    context: 8 * K,
    gguf: ['bartowski/gemma-2-9b-it-GGUF', 'gemma-2-9b-it-Q4_K_M.gguf', 5761],
    mlx: ['mlx-community/gemma-2-9b-it-4bit', '4bit', 5220],
  },
  {
    name: 'Gemma 2 27B it',
    licence: 'gemma',
    context: 8 * K,
    gguf: ['bartowski/gemma-2-27b-it-GGUF', 'gemma-2-27b-it-Q4_K_M.gguf', 16645],
    mlx: ['mlx-community/gemma-2-27b-it-4bit', '4bit', 15330],
  },
  {
    name: 'Gemma 3 1B it',
    licence: 'gemma',
    context: 32 * K,
    gguf: ['bartowski/google_gemma-3-1b-it-GGUF', 'google_gemma-3-1b-it-Q4_K_M.gguf', 806],
    mlx: ['mlx-community/gemma-3-1b-it-4bit', '4bit', 770],
  },
  {
    name: 'Gemma 3 4B it',
    licence: 'gemma',
    context: 128 * K,
    gguf: ['bartowski/google_gemma-3-4b-it-GGUF', 'google_gemma-3-4b-it-Q4_K_M.gguf', 2490],
    mlx: ['mlx-community/gemma-3-4b-it-4bit', '4bit', 3420],
  },
  {
    name: 'Gemma 3 12B it',
    licence: 'gemma',
    context: 128 * K,
    gguf: ['bartowski/google_gemma-3-12b-it-GGUF', 'google_gemma-3-12b-it-Q4_K_M.gguf', 7301],
    mlx: ['mlx-community/gemma-3-12b-it-4bit', '4bit', 8080],
  },
  {
    name: 'Gemma 3 27B it',
    licence: 'gemma',
    context: 128 * K,
    gguf: ['bartowski/google_gemma-3-27b-it-GGUF', 'google_gemma-3-27b-it-Q4_K_M.gguf', 16547],
    mlx: ['mlx-community/gemma-3-27b-it-4bit', '4bit', 16820],
  },
  {
    name: 'Phi 3.5 mini Instruct',
    licence: 'mit',
    context: 128 * K,
    gguf: ['bartowski/Phi-3.5-mini-instruct-GGUF', 'Phi-3.5-mini-instruct-Q4_K_M.gguf', 2393],
    mlx: ['mlx-community/Phi-3.5-mini-instruct-4bit', '4bit', 2150],
  },
  {
    name: 'Phi 4 mini Instruct',
    licence: 'mit',
    context: 128 * K,
    gguf: [
      'bartowski/microsoft_Phi-4-mini-instruct-GGUF',
      'microsoft_Phi-4-mini-instruct-Q4_K_M.gguf',
      2492,
    ],
    mlx: ['mlx-community/Phi-4-mini-instruct-4bit', '4bit', 2180],
  },
  {
    name: 'Phi 4',
    licence: 'mit',
    context: 16 * K,
    gguf: ['bartowski/phi-4-GGUF', 'phi-4-Q4_K_M.gguf', 9053],
    mlx: ['mlx-community/phi-4-4bit', '4bit', 8250],
  },
  {
    name: 'Mistral 7B Instruct v0.3',
    licence: 'apache-2.0',
    context: 32 * K,
    gguf: ['bartowski/Mistral-7B-Instruct-v0.3-GGUF', 'Mistral-7B-Instruct-v0.3-Q4_K_M.gguf', 4373],
    mlx: ['mlx-community/Mistral-7B-Instruct-v0.3-4bit', '4bit', 4080],
  },
  {
    name: 'Mistral Nemo Instruct 2407',
    licence: 'apache-2.0',
    context: 128 * K,
    gguf: [
      'bartowski/Mistral-Nemo-Instruct-2407-GGUF',
      'Mistral-Nemo-Instruct-2407-Q4_K_M.gguf',
      7477,
    ],
    mlx: ['mlx-community/Mistral-Nemo-Instruct-2407-4bit', '4bit', 6900],
  },
  {
    name: 'Mistral Small 24B Instruct 2501',
    licence: 'apache-2.0',
    context: 32 * K,
    gguf: [
      'bartowski/Mistral-Small-24B-Instruct-2501-GGUF',
      'Mistral-Small-24B-Instruct-2501-Q4_K_M.gguf',
      14334,
    ],
    mlx: ['mlx-community/Mistral-Small-24B-Instruct-2501-4bit', '4bit', 13260],
  },
  {
    name: 'Ministral 8B Instruct 2410',
    licence: 'mistral-research',
    context: 128 * K,
    gguf: [
      'bartowski/Ministral-8B-Instruct-2410-GGUF',
      'Ministral-8B-Instruct-2410-Q4_K_M.gguf',
      4911,
    ],
    mlx: ['mlx-community/Ministral-8B-Instruct-2410-4bit', '4bit', 4520],
  },
  {
    name: 'DeepSeek R1 Distill Qwen 1.5B',
    licence: 'mit',
    context: 128 * K,
    gguf: [
      'bartowski/DeepSeek-R1-Distill-Qwen-1.5B-GGUF',
      'DeepSeek-R1-Distill-Qwen-1.5B-Q4_K_M.gguf',
      1117,
    ],
    mlx: ['mlx-community/DeepSeek-R1-Distill-Qwen-1.5B-4bit', '4bit', 1010],
  },
  {
    name: 'DeepSeek R1 Distill Qwen 7B',
    licence: 'mit',
    context: 128 * K,
    gguf: [
      'bartowski/DeepSeek-R1-Distill-Qwen-7B-GGUF',
      'DeepSeek-R1-Distill-Qwen-7B-Q4_K_M.gguf',
      4683,
    ],
    mlx: ['mlx-community/DeepSeek-R1-Distill-Qwen-7B-4bit', '4bit', 4290],
  },
  {
    name: 'DeepSeek R1 Distill Llama 8B',
    licence: 'mit',
    context: 128 * K,
    gguf: [
      'bartowski/DeepSeek-R1-Distill-Llama-8B-GGUF',
      'DeepSeek-R1-Distill-Llama-8B-Q4_K_M.gguf',
      4921,
    ],
    mlx: ['mlx-community/DeepSeek-R1-Distill-Llama-8B-4bit', '4bit', 4530],
  },
  {
    name: 'DeepSeek R1 Distill Qwen 14B',
    licence: 'mit',
    context: 128 * K,
    gguf: [
      'bartowski/DeepSeek-R1-Distill-Qwen-14B-GGUF',
      'DeepSeek-R1-Distill-Qwen-14B-Q4_K_M.gguf',
      8988,
    ],
    mlx: ['mlx-community/DeepSeek-R1-Distill-Qwen-14B-4bit', '4bit', 8310],
  },
  {
    name: 'DeepSeek R1 Distill Qwen 32B',
    licence: 'mit',
    context: 128 * K,
    gguf: [
      'bartowski/DeepSeek-R1-Distill-Qwen-32B-GGUF',
      'DeepSeek-R1-Distill-Qwen-32B-Q4_K_M.gguf',
      19851,
    ],
    mlx: ['mlx-community/DeepSeek-R1-Distill-Qwen-32B-4bit', '4bit', 18430],
  },
  {
    name: 'Hermes 3 Llama 3.1 8B',
    licence: 'llama3.1',
    context: 128 * K,
    gguf: ['bartowski/Hermes-3-Llama-3.1-8B-GGUF', 'Hermes-3-Llama-3.1-8B-Q4_K_M.gguf', 4921],
    mlx: ['mlx-community/Hermes-3-Llama-3.1-8B-4bit', '4bit', 4530],
  },
  {
    name: 'gpt-oss 20B',
    licence: 'apache-2.0',
    context: 128 * K,
    gguf: ['ggml-org/gpt-oss-20b-GGUF', 'gpt-oss-20b-mxfp4.gguf', 12110],
    mlx: ['mlx-community/gpt-oss-20b-MXFP4-Q4', 'MXFP4', 11200],
  },
];

/** Models that are known to run on a machine of one's own, each in both formats. */
export const CATALOGUE: readonly Model[] = PUBLISHED.flatMap(
  ({ name, licence, context, gguf, mlx }): Model[] => [
    {
      id: gguf[0],
      name,
      format: 'gguf',
      size: gguf[2] * MB,
      quantization: gguf[1].endsWith('mxfp4.gguf') ? 'MXFP4' : 'Q4_K_M',
      licence,
      context,
      file: gguf[1],
    },
    { id: mlx[0], name, format: 'mlx', size: mlx[2] * MB, quantization: mlx[1], licence, context },
  ],
);
