/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/ops/cudnn_norm_ex.c -- cuDNN calls: batch normalization in its
 * extended form, as far as it only normalizes: that needs neither workspace nor
 * reserve space. With an activation or another summand: NOT_SUPPORTED. The
 * plain calls do the work, and are counted as calls, too. Contracts are
 * NVIDIA's. */
#include "emulator/cudnn/base/cudnn.h"

static cudnnStatus_t
check(cudnnBatchNormMode_t mode, cudnnBatchNormOps_t ops)
{
	if ((unsigned)mode > CUDNN_BATCHNORM_SPATIAL_PERSISTENT ||
	    (unsigned)ops > CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION)
		return CUDNN_STATUS_BAD_PARAM;
	return ops == CUDNN_BATCHNORM_OPS_BN ? CUDNN_STATUS_SUCCESS :
	    CUDNN_STATUS_NOT_SUPPORTED;
}

/* 0 bytes, once the arguments are good. */
static cudnnStatus_t
none(cudnnBatchNormMode_t mode, cudnnBatchNormOps_t ops,
    const struct cudnnTensorStruct *x, size_t *bytes_out)
{
	if (!x || !x->tensor.dims || !bytes_out)
		return CUDNN_STATUS_BAD_PARAM;
	if (!check(mode, ops))
		*bytes_out = 0;
	return check(mode, ops);
}

cudnnStatus_t
cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode,
    cudnnBatchNormOps_t bnOps, const cudnnTensorDescriptor_t xDesc,
    const cudnnTensorDescriptor_t zDesc, const cudnnTensorDescriptor_t yDesc,
    const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
    const cudnnActivationDescriptor_t activationDesc, size_t *sizeInBytes)
{
	DNN_ENTER(handle);
	(void)zDesc;
	(void)activationDesc;
	if (!yDesc || !bnScaleBiasMeanVarDesc)
		return CUDNN_STATUS_BAD_PARAM;
	return none(mode, bnOps, xDesc, sizeInBytes);
}

cudnnStatus_t
cudnnGetBatchNormalizationBackwardExWorkspaceSize(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const cudnnTensorDescriptor_t xDesc, const cudnnTensorDescriptor_t yDesc,
    const cudnnTensorDescriptor_t dyDesc,
    const cudnnTensorDescriptor_t dzDesc,
    const cudnnTensorDescriptor_t dxDesc,
    const cudnnTensorDescriptor_t dBnScaleBiasDesc,
    const cudnnActivationDescriptor_t activationDesc, size_t *sizeInBytes)
{
	DNN_ENTER(handle);
	(void)yDesc;
	(void)dzDesc;
	(void)activationDesc;
	if (!dyDesc || !dxDesc || !dBnScaleBiasDesc)
		return CUDNN_STATUS_BAD_PARAM;
	return none(mode, bnOps, xDesc, sizeInBytes);
}

cudnnStatus_t
cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t xDesc, size_t *sizeInBytes)
{
	DNN_ENTER(handle);
	(void)activationDesc;
	return none(mode, bnOps, xDesc, sizeInBytes);
}

cudnnStatus_t
cudnnBatchNormalizationForwardTrainingEx(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, const void *alpha,
    const void *beta, const cudnnTensorDescriptor_t xDesc, const void *xData,
    const cudnnTensorDescriptor_t zDesc, const void *zData,
    const cudnnTensorDescriptor_t yDesc, void *yData,
    const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
    const void *bnScale, const void *bnBias,
    double exponentialAverageFactor, void *resultRunningMean,
    void *resultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance, cudnnActivationDescriptor_t activationDesc,
    void *workspace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes)
{
	cudnnStatus_t status;

	DNN_ENTER(handle);
	(void)zDesc;
	(void)zData;
	(void)activationDesc;
	(void)workspace;
	(void)workSpaceSizeInBytes;
	(void)reserveSpace;
	(void)reserveSpaceSizeInBytes;
	status = check(mode, bnOps);
	return status ? status :
	    cudnnBatchNormalizationForwardTraining(handle, mode, alpha, beta,
	    xDesc, xData, yDesc, yData, bnScaleBiasMeanVarDesc, bnScale,
	    bnBias, exponentialAverageFactor, resultRunningMean,
	    resultRunningVariance, epsilon, resultSaveMean,
	    resultSaveInvVariance);
}

cudnnStatus_t
cudnnBatchNormalizationBackwardEx(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps,
    const void *alphaDataDiff, const void *betaDataDiff,
    const void *alphaParamDiff, const void *betaParamDiff,
    const cudnnTensorDescriptor_t xDesc, const void *xData,
    const cudnnTensorDescriptor_t yDesc, const void *yData,
    const cudnnTensorDescriptor_t dyDesc, const void *dyData,
    const cudnnTensorDescriptor_t dzDesc, void *dzData,
    const cudnnTensorDescriptor_t dxDesc, void *dxData,
    const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScaleData,
    const void *bnBiasData, void *dBnScaleData, void *dBnBiasData,
    double epsilon, const void *savedMean, const void *savedInvVariance,
    cudnnActivationDescriptor_t activationDesc, void *workSpace,
    size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes)
{
	cudnnStatus_t status;

	DNN_ENTER(handle);
	(void)yDesc;
	(void)yData;
	(void)dzDesc;
	(void)dzData;
	(void)bnBiasData;
	(void)activationDesc;
	(void)workSpace;
	(void)workSpaceSizeInBytes;
	(void)reserveSpace;
	(void)reserveSpaceSizeInBytes;
	status = check(mode, bnOps);
	return status ? status : cudnnBatchNormalizationBackward(handle, mode,
	    alphaDataDiff, betaDataDiff, alphaParamDiff, betaParamDiff, xDesc,
	    xData, dyDesc, dyData, dxDesc, dxData, dBnScaleBiasDesc,
	    bnScaleData, dBnScaleData, dBnBiasData, epsilon, savedMean,
	    savedInvVariance);
}
