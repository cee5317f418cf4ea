package sherpa

// This file has the structs of the library's C interface, as c-api.h of Version has them on 64-bit systems. A blank field stands for fields
// that stay zero. A pointer to a C string is a *byte; nil is NULL.

// word is what has the size of a pointer.
type word = uintptr

// moonshineConfig is SherpaOnnxOfflineMoonshineModelConfig.
type moonshineConfig struct {
	_             word // preprocessor
	encoder       *byte
	_             [2]word // uncached_decoder, cached_decoder
	mergedDecoder *byte
}

// offlineModelConfig is SherpaOnnxOfflineModelConfig.
type offlineModelConfig struct {
	_          [12]word // transducer, paraformer, nemo_ctc, whisper, tdnn
	tokens     *byte
	numThreads int32
	_          int32 // debug
	provider   *byte
	_          [7]word // model_type, modeling_unit, bpe_vocab, telespeech_ctc, sense_voice
	moonshine  moonshineConfig
	_          [36]word // fire_red_asr and all that follow
}

// recognizerConfig is SherpaOnnxOfflineRecognizerConfig.
type recognizerConfig struct {
	sampleRate, featureDim int32
	model                  offlineModelConfig
	_                      [2]word // lm_config
	decodingMethod         *byte
	_                      [9]word // max_active_paths and all that follow
}

// recognizerResult is the begin of SherpaOnnxOfflineRecognizerResult.
type recognizerResult struct{ text *byte }

// vitsConfig is SherpaOnnxOfflineTtsVitsModelConfig.
type vitsConfig struct {
	model                                *byte
	_                                    word // lexicon
	tokens, dataDir                      *byte
	noiseScale, noiseScaleW, lengthScale float32
	_                                    word // dict_dir
}

// ttsModelConfig is SherpaOnnxOfflineTtsModelConfig.
type ttsModelConfig struct {
	vits       vitsConfig
	numThreads int32
	_          int32 // debug
	provider   *byte
	_          [43]word // matcha and all that follow
}

// ttsConfig is SherpaOnnxOfflineTtsConfig.
type ttsConfig struct {
	model           ttsModelConfig
	_               word // rule_fsts
	maxNumSentences int32
	_               word // rule_fars
	silenceScale    float32
}

// generationConfig is SherpaOnnxGenerationConfig.
type generationConfig struct {
	silenceScale, speed float32
	_                   int32   // sid
	_                   [5]word // reference_audio and all that follow
}
